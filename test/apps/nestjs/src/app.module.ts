import { Controller, Get, Module } from '@nestjs/common'

@Controller('api/users')
class UsersController {
  @Get()
  list(): string[] {
    return ['Ada', 'Grace']
  }
}

@Module({ controllers: [UsersController] })
export class AppModule {}
